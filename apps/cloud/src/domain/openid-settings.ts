/** How an OpenID Connect server is asked. Every value is there: defaults are filled in when the settings are read from a request. */
export interface OpenIdSettings {
  /** Where its discovery document is, and what its tokens name. */
  readonly issuer: string
  /** What the identity server calls this cloud. */
  readonly client: string
  /** PEM certificates of its issuers; undefined: those that Node.js trusts. */
  readonly ca?: string
  /** What is asked for, separated by spaces; `openid` is among them. */
  readonly scopes: string
  readonly claims: {
    /** The claim that is the name of a user here. */
    readonly name: string
    /** The claim that lists groups. */
    readonly groups: string
  }
  /** `alice@corp.example` is `alice` if this is `corp.example`, and other domains are refused. undefined: names are taken as they are. */
  readonly domain?: string
  /** Of these ways to log in there, one is required; empty: any. */
  readonly acr: readonly string[]
  /** Who has not logged in there for so many days loses all access, as OpenID Connect has no question for whether the person has left. */
  readonly proofDays: number
}

/** Where the browser is sent, and comes back to, by the id of the identity server. */
export const loginPaths = {
  begin: (provider: string) => `/login/${provider}`,
  back: (provider: string) => `/login/${provider}/back`,
  /** Where the identity server says that somebody has logged out there. */
  logout: (provider: string) => `/login/${provider}/logout`,
} as const
