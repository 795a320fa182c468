export {
  handshakeBounds,
  mayComeFrom,
  refuseUpgrade,
  screenServer,
  whyNotHandshake,
  type ScreenServer,
  type ScreenServerOptions,
} from './accept-screen.ts'
export { endings, type Ending } from './endings.ts'
export { relay, type Relayed, type RelayOptions } from './relay.ts'
