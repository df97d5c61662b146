"""Pages of administrators about the versions of a training, and pages of annotators who attempt a training."""
