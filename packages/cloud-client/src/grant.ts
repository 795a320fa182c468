/**
 * The permission of a workflow run or schedule to act on behalf of a user. The cloud stores it and checks at every call that it is
 * still valid. It is referred to by its id over the machine API, without a token or a password.
 */
export interface Grant {
  readonly id: string
  /** The organisation of the definition: nothing outside of it is accessible. */
  readonly org: string
  /** The user who started it, and who may lose rights while it runs. */
  readonly account: string
  readonly user: string
}
