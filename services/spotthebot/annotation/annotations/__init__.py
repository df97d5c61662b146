"""An annotation is the submitted or imported answer to an item."""
