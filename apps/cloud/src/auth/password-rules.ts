import { Fault } from '@skerry/fault'

import { isAccessToken } from './access-token.ts'

/** Length of a new password, in characters. */
const LENGTH = { least: 8, most: 256 } as const

/** Characters added to a common password to satisfy other rules: 'Password1!', 'qwertyuiop123'. */
const DECORATION = /^[\d\W_]+|[\d\W_]+$/g
/** More characters than this around a common word make the password acceptable. */
const DECORATION_MOST = 6

/**
 * Rejects a password that an attacker tries first: short, of few different characters, the user's own name, or one of the most
 * common in leaked lists, also with digits or punctuation around it. Length matters more than kinds of characters
 * (NIST SP 800-63B), so no kinds are required.
 */
export async function checkPassword(password: string, user: string): Promise<void> {
  const { least, most } = LENGTH
  if (password.length < least || password.length > most) {
    throw new Fault('invalid', `Password must have ${least} to ${most} characters`)
  }
  if (isAccessToken(password)) {
    throw new Fault('invalid', 'Password must not have the form of an API token')
  }
  const reason = weakness(password, user, await commonPasswords())
  if (reason === undefined) return
  throw new Fault('invalid', `Password must not be ${reason}`, {
    hint: 'choose several unrelated words, or let a password manager generate one',
  })
}

/** Why a password is easy to guess, or undefined. */
export function weakness(
  password: string,
  user: string,
  common: ReadonlySet<string>,
): string | undefined {
  const folded = password.toLowerCase()
  const bare = folded.replace(DECORATION, '')
  const core = folded.length - bare.length <= DECORATION_MOST ? bare : folded
  if (new Set(folded.replaceAll(/\s/g, '')).size < 4)
    return 'made of fewer than four different characters'
  const name = user.toLowerCase()
  if (core === name || folded === name) return 'the name of the user'
  if (common.has(folded) || common.has(core)) return 'one of the commonest passwords'
  return undefined
}

let loaded: Promise<ReadonlySet<string>> | undefined

/** Loaded when a password is first set: most processes never set one. */
export function commonPasswords(): Promise<ReadonlySet<string>> {
  loaded ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common'].map(String)),
  )
  return loaded
}
