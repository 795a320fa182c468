import * as libvirt from '@skerry/libvirt'

import type { Change } from '../host/changes.ts'
import { idOfDomain } from '../host/definition.ts'
import type { Host } from '../host/host.ts'
import { boundAgent } from './bound-agents.ts'

/** Distributes libvirt's events while this connection lasts. Returns once it is subscribed. */
export async function follow(host: Host, connection: libvirt.Connection): Promise<void> {
  await Promise.all([
    pump(host, connection, libvirt.domainEventLifecycle, 'lifecycle', ({ dom, ...life }) => {
      // Also for a domain that arrives by migration or is restored from a file.
      if (life.event === libvirt.DomainEventType.started) void boundAgent(host, dom)
      const id = idOfDomain(dom.name)
      if (id !== undefined) host.endings.hear(dom.name, life, host.locks.isHeld(id))
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
  hear: (event: E) => void = () => undefined,
): Promise<void> {
  const events = await connection.domainEvents(event)
  if (kind === 'lifecycle') host.powers.trust(connection)
  const run = async () => {
    for await (const event of events) {
      hear(event)
      // Not for domains of others, nor for the one that the health check defines.
      const { name: domain } = event.dom
      if (idOfDomain(domain) !== undefined) host.changes.emit({ kind, domain })
    }
  }
  run().catch((error: unknown) => {
    if (kind === 'lifecycle') host.powers.distrust(connection)
    // The content of the lost events is unknown; listeners must read the state themselves.
    host.changes.emit({ kind: 'resync' })
    if (!connection.isOpen) return
    host.log(`lost ${kind} events of libvirt`, error)
    pump(host, connection, event, kind, hear).then(
      // Events before the new subscription are lost too.
      () => host.changes.emit({ kind: 'resync' }),
      (again: unknown) => host.log(`failed to resubscribe to ${kind} events of libvirt`, again),
    )
  })
}
