import { domainName } from './definition.ts'
import { lookUp, type Found } from './find-domain.ts'
import type { Host } from './host.ts'
import { readPowerOf } from './read-power.ts'
import { closeShare, openShare } from './share.ts'

/**
 * Guests start, shut themselves down and crash without asking us. Their folders follow: plugged
 * and mounted once a guest's agent answers, taken away when its QEMU is gone.
 */
export function keepShares(host: Host, signal: AbortSignal): void {
  const listening = host.changes.listen(({ kind, domain }) => {
    if (kind !== 'agent' && kind !== 'lifecycle') return
    const record = host.records.all().find((each) => each.sharing && domainName(each) === domain)
    if (!record) return
    host.turns
      .take(record.id, () => settle(host, record.id))
      .catch((error: unknown) => host.note(`the folders of VM ${record.id} lag behind`, error))
  })
  signal.addEventListener('abort', () => listening[Symbol.dispose](), { once: true })
}

async function settle(host: Host, id: string): Promise<void> {
  const record = host.records.get(id)
  if (record?.phase !== 'there') return
  const dom = await lookUp(host, domainName(record))
  if (dom) await settleShare(host, { record, dom })
}

/** Makes what there is of a share on the host fit what the VM does now. */
export async function settleShare(host: Host, { record, dom }: Found): Promise<void> {
  const { power } = await readPowerOf(host, dom)
  if (power === 'on' && record.sharing) await openShare(host, record, dom)
  if (power === 'off' || power === 'suspended') await closeShare(host, record)
}
