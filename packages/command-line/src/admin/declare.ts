import type { CommandDeclaration, Option, Options } from '../declaration.ts'
import type { OutputShape } from '../shape.ts'

/** The configuration of the cell on this machine. */
export const CLOUD_CONFIG = '/etc/skerry/cloud.json'

const everyAdmin = {
  config: {
    type: 'string',
    value: 'FILE',
    doc: `configuration of the cell on this machine (default: ${CLOUD_CONFIG})`,
  },
} as const satisfies Options

/** A command for operators on the machine of a cell. It uses the database and the issuer keys, and bypasses the API. */
export interface AdminDeclaration<All extends Options = Options> extends CommandDeclaration<All> {
  /** The schema of what --json prints. */
  readonly output: OutputShape
}

/** Adds the option that all commands of `skerry admin` have, and keeps the types of the others. */
export const adminCommand = <const All extends Options = {}>({
  options,
  ...row
}: Omit<AdminDeclaration, 'options'> & {
  readonly options?: All
}): AdminDeclaration<All & typeof everyAdmin> => ({
  ...row,
  options: { ...(options as All), ...everyAdmin },
})

/** An option with a value. */
export const valued = (value: string, doc: string) =>
  ({ type: 'string', value, doc }) as const satisfies Option
/** An option without one. */
export const flag = (doc: string) => ({ type: 'boolean', doc }) as const satisfies Option
