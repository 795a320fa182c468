/**
 * What a run or a schedule of a workflow may do in somebody's name: the cloud knows it, and looks at every call whether it still
 * holds. It is named by its id over the machines' door; no token and no password goes with it.
 */
export interface Grant {
  readonly id: string
  /** Whose definition it is: nothing outside of this organisation is reached. */
  readonly org: string
  /** Who started it, and may lose rights while it runs. */
  readonly account: string
  readonly user: string
}
