import { Failure } from '../terminal/failure.ts'

/** The Failure for an option that only clouds support. */
export const cloudsOnly = (option: string): Failure =>
  new Failure('usage', `${option} is for clouds; vmd does not support it`, {
    hint: 'omit it, or select a cloud with --on NAME; skerry profiles lists them',
  })
