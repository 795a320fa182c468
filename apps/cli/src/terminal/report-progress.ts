/** Reports progress: the percentage if known, the current step (replaces the label), and what the operation waits for. */
export type ReportProgress = (percent: number | undefined, doing?: string, waits?: string) => void
