import type { VmId } from '@skerry/vm'

import { domainName } from './definition.ts'
import type { Host } from './host.ts'
import type { Owner } from './record.ts'

/** Calls back with every VM of this owner's that may have changed, or with none where any may have. */
export function onChange(host: Host, owner: Owner, tell: (id?: VmId) => void): Disposable {
  const prefix = domainName({ owner, id: '' })
  return host.changes.listen(({ domain }) => {
    if (domain === undefined) tell()
    else if (domain.startsWith(prefix)) tell(domain.slice(prefix.length) as VmId)
  })
}

/** The ids of every VM of this owner's that is whole. */
export const vmIds = ({ records }: Host, owner: Owner): VmId[] =>
  records
    .all()
    .filter((record) => record.owner === owner && record.phase === 'there')
    .map(({ id }) => id)
    .sort()
