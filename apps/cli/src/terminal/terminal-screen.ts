export interface TerminalScreen {
  readonly columns: number
  readonly write: (text: string) => void
}
