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
export { relay, type RelayResult, type RelayOptions } from './relay.ts'
export { answerFile, answerPage, type FileAnswer, type FileRequest } from './answer-file.ts'
export { FILES_PATH, loadScreenFiles, type ScreenFile, type ScreenFiles } from './screen-files.ts'
