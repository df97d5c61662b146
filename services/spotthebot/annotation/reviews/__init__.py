"""Reviews of annotators and their work: quality, blocks, appeals, rejections, the audit log."""
