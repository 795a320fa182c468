// `skerry` for a cloud on a busy machine.
import { until } from '@skerry/lab'

import type { Profile } from '../../../apps/cli/src/profiles/profiles.ts'
import { keptProfiles, skerry, type Ran } from '../../../apps/cli/test/terminal.ts'
import { NOWHERE } from './device-login.ts'

/** Runs it with this profile until the cloud answers: a connection to the database may take longer than a request waits. */
export const insist = (profile: Profile, secret: string, words: readonly string[]): Promise<Ran> =>
  until(`the cloud answers skerry ${words.join(' ')}`, async () => {
    const done = await skerry(NOWHERE, words, {
      profiles: keptProfiles({ active: 'work', clouds: { work: profile } }),
      readSecret: async () => secret,
    })
    return !done.err.includes('cannot reach the database') && done
  })
