/** How long a step is retried before its task is rolled back. */
export const QUICK_STEP_SECONDS = 600

export const LONG_STEP_SECONDS = 6 * 3600
