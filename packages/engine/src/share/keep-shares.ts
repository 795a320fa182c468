import { lookUp, type FoundVm } from '../domain/find-domain.ts'
import { readPowerOf } from '../domain/read-power.ts'
import { domainName } from '../host/definition.ts'
import type { Host } from '../host/host.ts'
import { closeShare, openShare } from './share.ts'

/**
 * Guests start, shut down and crash on their own. Their shared folders follow: plugged in and
 * mounted once the guest agent answers, removed when QEMU has exited.
 */
export function keepShares(host: Host, signal: AbortSignal): void {
  const listening = host.changes.listen(({ kind, domain }) => {
    if (kind !== 'agent' && kind !== 'lifecycle') return
    const record = host.records.all().find((each) => each.sharing && domainName(each) === domain)
    if (!record) return
    host.locks
      .run(record.id, () => settleShareOf(host, record.id))
      .catch((error: unknown) =>
        host.log(`failed to update the shared folders of VM ${record.id}`, error),
      )
  })
  signal.addEventListener('abort', () => listening[Symbol.dispose](), { once: true })
}

async function settleShareOf(host: Host, id: string): Promise<void> {
  const record = host.records.get(id)
  if (record?.phase !== 'there') return
  const dom = await lookUp(host, domainName(record))
  if (dom) await settleShare(host, { record, dom })
}

/** Adjusts the host's side of a share to the VM's current state. */
export async function settleShare(host: Host, { record, dom }: FoundVm): Promise<void> {
  const { power } = await readPowerOf(host, dom)
  if (power === 'on' && record.sharing) await openShare(host, record, dom)
  if (power === 'off' || power === 'suspended') await closeShare(host, record)
}
