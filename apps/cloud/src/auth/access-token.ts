import { hash as hashOnce } from 'node:crypto'

import { sql } from 'kysely'

/** The prefix of API tokens, which also identifies a leaked one. */
export const ACCESS_TOKEN = 'skat_'

/** What is typed or sent as a password may be an API token. Any other text that begins so is a password. */
const ACCESS_TOKEN_FORM = new RegExp(`^${ACCESS_TOKEN}[\\w-]{43}$`)
export const isAccessToken = (password: string): boolean => ACCESS_TOKEN_FORM.test(password)

/** Whether the API token of the row has not expired; also true for a session without one. */
export const UNEXPIRED = sql`coalesce(access_token.expires_at > clock_timestamp(), true)`

/** The last use of a token is stored at most this often: a write for each request would make a user's requests wait for each other. */
export const NOTED = sql`interval '1 min'`

/** Tokens of sessions and of scripts are stored as hashes. */
export const hashToken = (token: string): Buffer => hashOnce('sha256', token, 'buffer')
