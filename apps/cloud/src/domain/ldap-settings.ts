/** How an LDAP server is asked. Every value is there: defaults are filled in when the settings are read from a request. */
export interface LdapSettings {
  /** Tried in this order. All are ldaps, or all are ldap with StartTLS. */
  readonly urls: readonly string[]
  readonly startTls: boolean
  /** PEM certificates of its issuers; undefined: those that Node.js trusts. */
  readonly ca?: string
  /** The DN that searches. */
  readonly reader: string
  readonly people: {
    readonly base: string
    readonly filter: string
    /** The attribute that users type as their name. */
    readonly name: string
    /** The attribute that stays the same when a person is renamed. */
    readonly subject: string
  }
  readonly groups: {
    readonly base: string
    /** The attribute that lists the DNs of members. */
    readonly member: string
    readonly name: string
    /** How groups in groups are found: by a search for each level, or by the matching rule of Active Directory. */
    readonly nested: 'levels' | 'rule'
  }
}

/** A person as the identity server knows them. */
export interface Person {
  readonly subject: string
  readonly name: string
  /** Whether the identity server lets the person log in. */
  readonly enabled: boolean
  readonly groups: readonly DirectoryGroup[]
}

/** A group is named by its name attribute, or by its whole DN. */
export interface DirectoryGroup {
  readonly dn: string
  readonly name: string
}
