import { sql } from 'kysely'

/** A host that accepts work: it is followed, its list was read, its pending undos were executed, and it is not in quarantine. */
export const open = sql<boolean>`host.state = 'joined' and host.quarantine is null
  and host.follow_until > clock_timestamp() and host.list_session = host.session and host.session > 0`

/**
 * A clone starts once the source's earlier tasks have ended, and not while the host of both is unreachable. If the source has no
 * host, the clone starts too and fails. Later tasks of the source wait behind the task that stands for the clone
 * in the source's queue.
 */
const sourceReady = sql<boolean>`not exists (select from vm source join host on host.id = source.host
    where source.id = vm.source and source.lost_reason is null and not coalesce(${open}, false))
  and not exists (select from task hold join task earlier on earlier.vm = hold.vm and earlier.position < hold.position
    where hold.parent = head.parent and hold.vm = vm.source and hold.kind = 'hold'
      and earlier.state in ('queued', 'running'))`

/**
 * Whether `head`, the first task in the queue of `vm`, may run now: the same rule for claims and for wake-ups. A task
 * that rolls back, or must, needs no host: an undo that cannot run now is stored as pending. A VM whose
 * host is lost needs no host either. Pending undos of a VM are executed first.
 */
export const claimable = sql<boolean>`not (select recovering from cloud)
  and (vm.host is null or vm.lost_reason = 'LOST' or head.direction = 'back' or head.cancel_requested
    or clock_timestamp() > head.deadline or (head.kind = 'create' and not vm.ever_started)
    or exists (select from host where host.id = vm.host and ${open}
      and not exists (select from pending_undo where pending_undo.host = host.id and pending_undo.vm = vm.id)))
  and (head.kind <> 'copy' or head.state = 'running' or head.cancel_requested or ${sourceReady})
  and (head.state = 'running' or not exists (select from task earlier where earlier.parent = head.parent
    and earlier.rank < head.rank and earlier.state in ('queued', 'running')))`
