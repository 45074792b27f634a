// The offers of a WorkItem: one per candidate, the newest; each with its own end (commands.md 1.20, 1.21, MWP-WRK-004).
import { refuse, type Refusal } from '../protocol/refusals.ts';
import { compareTimestamps } from '../protocol/timestamps.ts';
import type { Offer } from './aggregates.ts';

export function isLiveOffer(offer: Offer, now: string): boolean {
  return offer.status === 'pending' && compareTimestamps(now, offer.expiresAt) < 0;
}

/** Expiry appends no Event (WT-5); the record of it is made by whatever touches the offers next. */
function settled(offer: Offer, now: string, status: Offer['status']): Offer {
  if (offer.status !== 'pending') return offer;
  return { ...offer, status: isLiveOffer(offer, now) ? status : 'expired' };
}

/** Earlier candidates keep theirs; whoever is asked again has the new one only, so the list cannot grow without end. */
export function mergedOffers(former: readonly Offer[], fresh: readonly Offer[], now: string): Offer[] {
  const asked = new Set(fresh.map(({ agentId }) => agentId));
  const kept = former.filter(({ agentId }) => !asked.has(agentId)).map((offer) => settled(offer, now, 'pending'));
  return [...kept, ...fresh];
}

/** MWP-WRK-004c: one wins, and the others are closed before their holders could run anything. */
export function wonOffers(offers: readonly Offer[], winnerId: string, now: string): Offer[] {
  return offers.map((offer) =>
    offer.agentId === winnerId ? { ...offer, status: 'accepted' } : settled(offer, now, 'lost_race'),
  );
}

/** The offer that this Agent may accept now. Who was never asked is told so; everything else is an offer that ended. */
export function acceptableOffer(
  offers: readonly Offer[],
  { agentId, offerId }: { agentId: string; offerId: string | undefined },
  now: string,
): Offer | Refusal {
  const offer = offers.find((candidate) => candidate.agentId === agentId);
  if (!offer) return refuse('AUTH_FORBIDDEN', 'the WorkItem was not offered to this Agent');
  const superseded = offerId !== undefined && offerId !== offer.offerId;
  if (superseded || !isLiveOffer(offer, now)) {
    return refuse('WORK_OFFER_EXPIRED', 'the offer has expired, was withdrawn or was superseded');
  }
  return offer;
}
