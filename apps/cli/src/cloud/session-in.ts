import type { CliContext } from '../command.ts'
import { Failure } from '../terminal/failure.ts'
import type { CloudSession } from '../vms/cloud-session.ts'

/** The session of a command that needs a cloud. */
export function sessionIn({ cloud }: Pick<CliContext, 'cloud'>): CloudSession {
  if (cloud) return cloud
  throw new Failure('refused', 'no cloud selected', {
    hint: 'give --on NAME, one of skerry profiles',
  })
}
