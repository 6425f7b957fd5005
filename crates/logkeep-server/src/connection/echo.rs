//! Which stored batches a stream withholds because its own connection wrote them (SV-055…059).

/// Sequences that a stream's connection wrote while the stream was open, above the stream's position.
///
/// Instead of counting entry ids it keeps the ranges of sequences the writes were acknowledged at: they are
/// exact, merge as they grow, and go as the stream passes them.
#[derive(Debug, Default)]
pub(super) struct OwnSequences(Vec<(u64, u64)>);

impl OwnSequences {
    /// Adds the sequences `first..=last`, unless the stream, about to deliver `position`, has passed them.
    pub(super) fn add(&mut self, first: u64, last: u64, position: u64) {
        let first = first.max(position);
        if first > last {
            return;
        }
        let begin = self.0.partition_point(|(_, end)| end.saturating_add(1) < first);
        let stop = self.0.partition_point(|(start, _)| *start <= last.saturating_add(1));
        let merged = self.0.get(begin..stop).unwrap_or_default();
        let range =
            merged.iter().fold((first, last), |(low, high), (start, end)| (low.min(*start), high.max(*end)));
        self.0.splice(begin..stop.max(begin), [range]);
    }

    /// Whether all of `first..=last` is the connection's own.
    pub(super) fn contains(&self, first: u64, last: u64) -> bool {
        let index = self.0.partition_point(|(_, end)| *end < first);
        self.0.get(index).is_some_and(|(start, end)| *start <= first && last <= *end)
    }

    /// Forgets everything below `position`.
    pub(super) fn pass(&mut self, position: u64) {
        let gone = self.0.partition_point(|(_, end)| *end < position);
        self.0.drain(..gone);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn behaves_like_a_set(ranges in prop::collection::vec((0u64..60, 0u64..8), 0..30), position in 0u64..60) {
            let mut own = OwnSequences::default();
            let mut model = std::collections::BTreeSet::new();
            for (first, length) in ranges {
                own.add(first, first + length, position);
                model.extend((first..=first + length).filter(|sequence| *sequence >= position));
            }
            own.pass(position);
            for first in position..70 {
                for last in first..70 {
                    let expected = (first..=last).all(|sequence| model.contains(&sequence));
                    prop_assert_eq!(own.contains(first, last), expected, "{}..={}", first, last);
                }
            }
        }
    }

    #[test]
    fn neighbours_merge_and_passed_ranges_go() {
        let mut own = OwnSequences::default();
        for sequence in 1..=1_000 {
            own.add(sequence, sequence, 1);
        }
        assert_eq!(own.0, [(1, 1_000)]);
        own.pass(1_001);
        assert!(own.0.is_empty());
    }
}
