import { sql } from 'kysely'

/** A host with which work can be done: followed, its list read, its debts paid, nothing against it. */
export const open = sql<boolean>`host.state = 'joined' and host.quarantine is null
  and host.follow_until > clock_timestamp() and host.listed = host.session and host.session > 0`

/**
 * Whether `head`, the first task in the queue of `vm`, may act now: the one rule for whoever claims and for whoever rings. One
 * that goes back, or must, needs no host: what cannot be undone becomes a debt. What is left of a VM
 * whose host is lost needs none either. What is owed for a VM is paid first.
 */
export const claimable = sql<boolean>`not (select recovering from cloud)
  and (vm.host is null or vm.fate = 'LOST' or head.direction = 'back' or head.cancel
    or clock_timestamp() > head.deadline or (head.operation = 'create' and not vm.sent_on)
    or exists (select from host where host.id = vm.host and ${open}
      and not exists (select from debt where debt.host = host.id and debt.vm = vm.id)))
  and (head.state = 'running' or not exists (select from task earlier where earlier.parent = head.parent
    and earlier.rank < head.rank and earlier.state in ('queued', 'running')))`
