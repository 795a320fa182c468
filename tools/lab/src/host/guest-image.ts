// Guests for tests.
import { cachedImage, placeInCache } from '../../../guest-image/cached.ts'
import { debian } from '../../../guest-image/debian.ts'
import { small } from '../../../guest-image/small.ts'
import { requirePrograms } from '../system/packages.ts'

/**
 * The path of a bootable qcow2 image, built if it is not cached yet. Never write to it: make an overlay. Both kinds read a NoCloud
 * seed from a virtio disk with the label cidata; their kernel supports neither SATA nor USB.
 */
export async function guestImage(kind: 'small' | 'debian'): Promise<string> {
  requirePrograms('small')
  if (kind === 'small') return cachedImage(small)
  requirePrograms('debian')
  return cachedImage(debian)
}

/** The cached Debian image, for callers that build it with the product's own command. */
export async function debianImagePlace(): Promise<string> {
  return placeInCache(debian)
}
