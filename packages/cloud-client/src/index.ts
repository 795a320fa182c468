export type { SendRequest, CloudAnswer, CloudRequest } from './ask.ts'
export { ACCEPT, Cloud, linkOf, linkTo, type ByteRange, type RequestContent } from './cloud.ts'
export {
  metadataIn,
  usageIn,
  vappIn,
  vmIn,
  type SeenSnapshot,
  type SeenVapp,
  type SeenVm,
} from './documents.ts'
export {
  beginDeviceLogin,
  takeDeviceToken,
  type DeviceCode,
  type DeviceToken,
} from './device-login.ts'
export type { Grant } from './grant.ts'
export {
  basicHeader,
  isSafe,
  NoAnswer,
  sendHttp,
  ANSWER_MS,
  wholeBody,
  type HttpRequest,
  type HttpResponse,
  type HttpServer,
} from './http-client.ts'
export { inside, query, quoted, type Question, type Record } from './query.ts'
export { cloudOrigin, follow, TOKEN_HEADER, type CloudAddress } from './over-https.ts'
export { reviveFault } from './revive-fault.ts'
export {
  addAccessToken,
  cloudByToken,
  isAccessToken,
  logIn,
  logOut,
  type AccessToken,
} from './session.ts'
export {
  cancelTask,
  taskIn,
  TaskFailed,
  waitIn,
  waitTask,
  type EndedTask,
  type SeenWait,
  type Waiting,
} from './tasks.ts'
export { sendUpload, type ReadPart } from './upload.ts'
