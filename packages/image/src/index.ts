export {
  checkImage,
  checkOverlay,
  readQcow2,
  type ImageRules,
  type ImageVerdict,
  type OverlayRules,
} from './check-image.ts'
export type { Qcow2Header } from './qcow2.ts'
