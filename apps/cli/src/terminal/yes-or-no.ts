import { Failure } from './failure.ts'

/** Parses an option that is yes or no. */
export function yesOrNo(option: string, text: string | undefined): boolean | undefined {
  if (text === undefined || text === 'yes' || text === 'no') {
    return text === undefined ? undefined : text === 'yes'
  }
  throw new Failure('usage', `${option} must be yes or no, not ${text}`)
}
