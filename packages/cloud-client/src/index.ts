export type { Grant } from './grant.ts'
