import type { Id } from '@skerry/vm'

export type VappId = Id<'vapp'>
