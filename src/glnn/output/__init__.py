"""The output: π_t from the activities, its log-likelihood, and the derivatives that training needs."""
