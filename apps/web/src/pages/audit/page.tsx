import { EventList } from '../events/event-list.tsx'

/** Who did what, and from where, in all organisations. */
export const AuditPage = () => <EventList isAudit />
