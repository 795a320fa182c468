import { Fault } from '@skerry/fault'

const HINT = 'Give a raw image or a plain qcow2 image; qemu-img convert makes one.'

/** The one way an image is turned away. The reason is about the image alone: never a path of the host. */
export function refused(reason: string, cause?: unknown): Fault {
  return new Fault('image-refused', `the image is refused: ${reason}`, { cause, hint: HINT })
}
