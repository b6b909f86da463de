"""The contract between the policy floors and the backends: demand, capability, enforcement, launch."""
