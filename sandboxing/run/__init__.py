"""The whole flow: decode, bind, plan, wrap, spawn, observe, explain; and the public Python API."""
