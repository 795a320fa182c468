import * as libvirt from '@skerry/libvirt'

import type { Change } from './changes.ts'
import type { Host } from './host.ts'

/** Hands on what libvirt tells, as long as this connection lasts. Returns once it listens. */
export async function follow(host: Host, connection: libvirt.Connection): Promise<void> {
  await Promise.all([
    pump(host, connection, libvirt.domainEventLifecycle, 'lifecycle'),
    pump(host, connection, libvirt.domainEventAgentLifecycle, 'agent'),
    pump(host, connection, libvirt.domainEventIoErrorReason, 'disk'),
  ])
}

async function pump(
  host: Host,
  connection: libvirt.Connection,
  event: libvirt.DomainEvent<{ readonly dom: libvirt.Domain }>,
  kind: Change['kind'],
): Promise<void> {
  const events = await connection.domainEvents(event)
  if (kind === 'lifecycle') host.powers.trust(connection)
  const run = async () => {
    for await (const { dom } of events) host.changes.tell({ kind, domain: dom.name })
  }
  run().catch((error: unknown) => {
    if (kind === 'lifecycle') host.powers.distrust(connection)
    // Nobody can say what was in the events that did not fit; whoever listens looks for himself.
    host.changes.tell({ kind: 'resync' })
    if (!connection.isOpen) return
    host.note(`events of the kind ${kind} were lost`, error)
    pump(host, connection, event, kind).then(
      // Nor what happened before they were heard again.
      () => host.changes.tell({ kind: 'resync' }),
      (again: unknown) => host.note(`events of the kind ${kind} are no longer heard`, again),
    )
  })
}
