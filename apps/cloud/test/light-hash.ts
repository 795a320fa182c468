// The hash of a password that is quick to check, for tests about something else: the usual one takes a third of a second of a core.
import { randomBytes } from 'node:crypto'

import { hashPassword } from '../src/auth/password.ts'

export const lightHash = (password: string): Promise<string> =>
  hashPassword(password, randomBytes(16), { memory: 8, passes: 1 })
