// Guests to start in tests.
import { cachedImage, placeInCache } from '../../guest-image/cached.ts'
import { debian } from '../../guest-image/debian.ts'
import { small } from '../../guest-image/small.ts'
import { requirePrograms } from './packages.ts'

/**
 * The path of a bootable qcow2 image, built when it is not in the cache yet. Never write to it: make an overlay.
 * Both kinds take a NoCloud seed from a virtio disk with the label cidata; their kernel knows neither SATA nor USB.
 */
export async function guestImage(kind: 'small' | 'debian'): Promise<string> {
  requirePrograms('small')
  if (kind === 'small') return cachedImage(small)
  requirePrograms('debian')
  return cachedImage(debian)
}

/** Where the Debian image is kept, for whoever makes it by the product's own command. */
export async function debianImagePlace(): Promise<string> {
  return placeInCache(debian)
}
