// @skerry/ticket: a ticket to a screen, made, kept hashed, redeemed once; and the screens that are open.
export { closeConsole, redeemTicket, renewConsoles } from './consoles.ts'
export { hashOf } from './hash-of.ts'
export { issueTicket, type NewTicket } from './issue-ticket.ts'
export { endings } from './ticket.ts'
export type { Cause, Ended, OpenConsole, Redeemed, Screen } from './ticket.ts'
