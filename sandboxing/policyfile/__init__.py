"""policyfile."""
