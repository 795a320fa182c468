import { sql } from 'kysely'

/** A host with which work can be done: followed, its list read, its debts paid, nothing against it. */
export const open = sql<boolean>`host.state = 'joined' and host.quarantine is null
  and host.follow_until > clock_timestamp() and host.listed = host.session and host.session > 0`

/**
 * A copy is made when what was asked of its source before has ended, and not while the host of both is away. One whose source is
 * nowhere has its turn too: it finds that out. What is asked of the source
 * later waits behind the task that stands for the copy in its queue.
 */
const sourceReady = sql<boolean>`not exists (select from vm source join host on host.id = source.host
    where source.id = vm.source and source.fate is null and not coalesce(${open}, false))
  and not exists (select from task lend join task earlier on earlier.vm = lend.vm and earlier.place < lend.place
    where lend.parent = head.parent and lend.vm = vm.source and lend.operation = 'lend'
      and earlier.state in ('queued', 'running'))`

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
  and (head.operation <> 'clone' or head.state = 'running' or head.cancel or ${sourceReady})
  and (head.state = 'running' or not exists (select from task earlier where earlier.parent = head.parent
    and earlier.rank < head.rank and earlier.state in ('queued', 'running')))`
