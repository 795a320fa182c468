export type { Relayed, RelayOptions } from './relay.ts'
