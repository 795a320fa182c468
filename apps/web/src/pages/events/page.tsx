import { EventList } from './event-list.tsx'

/** The events of the user's organisation. */
export const EventsPage = () => <EventList />
