/** Why Active Directory refuses a user, other than for a wrong password. */
export type DirectoryRefusal = 'locked' | 'password expired' | 'account expired' | 'disabled'

/** Its code, in hexadecimal, in the message of the answer to a bind: a Windows error. */
const byCode: Readonly<Record<string, DirectoryRefusal>> = {
  '532': 'password expired',
  '773': 'password expired',
  '701': 'account expired',
  '533': 'disabled',
  '775': 'locked',
}

/** The reason in such a message; undefined: the password is wrong, or the directory names no reason. */
export const refusalIn = (message: string): DirectoryRefusal | undefined =>
  byCode[/\bAcceptSecurityContext error, data ([0-9a-f]+)\b/i.exec(message)?.[1] ?? '']

/**
 * What the user reads; undefined: the same as for a wrong password. Active Directory answers `locked` to a wrong password, too: it would
 * reveal that the user exists.
 */
export const refusalText = (why: DirectoryRefusal, server: string): string | undefined => {
  if (why === 'locked') return undefined
  if (why === 'password expired') {
    return `the password has expired at identity server ${server}: choose another one there`
  }
  return `the account is ${why === 'disabled' ? why : 'expired'} at identity server ${server}`
}
