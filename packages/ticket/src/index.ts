// @skerry/ticket: tickets for screens, issued, stored as hashes, redeemed once; and the open screens.
export { closeConsole, redeemTicket, renewConsoles } from './consoles.ts'
export { hashOf } from './hash-of.ts'
export { issueTicket, type NewTicket } from './issue-ticket.ts'
export { reasonOf, reasons } from './ticket.ts'
export type { EndedConsole, OpenConsole, Redeemed, Screen } from './ticket.ts'
