/** URL and credentials of a workflow server, from options or the environment. */
export interface WorkflowAccess {
  readonly server: string | undefined
  readonly user: string | undefined
  readonly password: string | undefined
  /** File of certificates that are trusted in addition to those of this machine. */
  readonly ca: string | undefined
}
