"""The system-call filter: rules as data, and libseccomp's compiler in front of them."""
