export type { Ended, OpenConsole, Redeemed, Screen } from './ticket.ts'
