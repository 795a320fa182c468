import * as libvirt from '@skerry/libvirt'

import type { Change } from './changes.ts'
import { idOfDomain } from './definition.ts'
import type { Host } from './host.ts'

/** Hands on what libvirt tells, as long as this connection lasts. Returns once it listens. */
export async function follow(host: Host, connection: libvirt.Connection): Promise<void> {
  await Promise.all([
    pump(host, connection, libvirt.domainEventLifecycle, 'lifecycle', ({ dom, ...life }) => {
      const id = idOfDomain(dom.name)
      if (id !== undefined) host.endings.hear(dom.name, life, host.turns.isTaken(id))
    }),
    pump(host, connection, libvirt.domainEventAgentLifecycle, 'agent'),
    pump(host, connection, libvirt.domainEventIoErrorReason, 'disk'),
  ])
}

async function pump<E extends { readonly dom: libvirt.Domain }>(
  host: Host,
  connection: libvirt.Connection,
  event: libvirt.DomainEvent<E>,
  kind: Change['kind'],
  hear: (told: E) => void = () => undefined,
): Promise<void> {
  const events = await connection.domainEvents(event)
  if (kind === 'lifecycle') host.powers.trust(connection)
  const run = async () => {
    for await (const told of events) {
      hear(told)
      host.changes.tell({ kind, domain: told.dom.name })
    }
  }
  run().catch((error: unknown) => {
    if (kind === 'lifecycle') host.powers.distrust(connection)
    // Nobody can say what was in the events that did not fit; whoever listens looks for himself.
    host.changes.tell({ kind: 'resync' })
    if (!connection.isOpen) return
    host.note(`events of the kind ${kind} were lost`, error)
    pump(host, connection, event, kind, hear).then(
      // Nor what happened before they were heard again.
      () => host.changes.tell({ kind: 'resync' }),
      (again: unknown) => host.note(`events of the kind ${kind} are no longer heard`, again),
    )
  })
}
