import { Failure } from './failure.ts'

/** What a line asks for, and only clouds have. */
export const cloudsOnly = (option: string): Failure =>
  new Failure('usage', `${option} is for clouds; vmd of this machine knows nothing like it`, {
    hint: 'leave it out, or say which cloud is meant: --on NAME; skerry profiles lists them',
  })
