import type { VmId } from '@skerry/vm'

import { domainName } from '../host/definition.ts'
import type { Host } from '../host/host.ts'
import type { Owner } from '../host/owner.ts'

/** Calls back with the id of every VM of this owner that may have changed, or without an id if any may have. */
export function onChange(host: Host, owner: Owner, emit: (id?: VmId) => void): Disposable {
  const prefix = domainName({ owner, id: '' })
  return host.changes.listen(({ domain }) => {
    if (domain === undefined) emit()
    else if (domain.startsWith(prefix)) emit(domain.slice(prefix.length) as VmId)
  })
}

/** The ids of all complete VMs of this owner. */
export const vmIds = ({ records }: Host, owner: Owner): VmId[] =>
  records
    .all()
    .filter((record) => record.owner === owner && record.phase === 'there')
    .map(({ id }) => id)
    .sort()
