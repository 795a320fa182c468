import { Fault } from '@skerry/fault'

const HINT = 'Use a raw or a plain qcow2 image; qemu-img convert creates one.'

/** The fault for every rejected image. The reason concerns the image alone and never names a path of the host. */
export function refused(reason: string, cause?: unknown): Fault {
  return new Fault('image-refused', `the image is refused: ${reason}`, { cause, hint: HINT })
}
