use super::*;

/// Bytes one by one, as slowly as can be.
type Model = std::collections::HashMap<u64, Vec<Result<u8, Reason>>>;

fn cause(by: Writer) -> Cause {
    Cause::new(by, 7, 0)
}

fn why(reason: Reason) -> Why {
    Why::new(reason, 7)
}

fn read(b: &Bytes, space: u64, offset: u64, size: u64) -> Vec<Result<u8, Reason>> {
    let mut bytes = Vec::new();
    let known = b.read(space, offset, size, &mut bytes);
    let mut all: Vec<Result<u8, Reason>> = bytes.into_iter().map(Ok).collect();
    for h in known.holes {
        all[h.from as usize..h.to as usize].fill(Err(h.why.reason));
    }
    all
}

#[test]
fn what_is_written_is_read_and_the_rest_is_unknown() {
    let mut b = Bytes::default();
    b.allocate(1, 10_000);
    b.write(1, 4090, &[1, 2, 3, 4, 5, 6, 7, 8], cause(Writer::Mapped));
    let all = read(&b, 1, 4088, 12);
    let nothing = Err(Reason::NeverWritten);
    assert_eq!(all[..2], [nothing, nothing]);
    assert_eq!(all[2..10], [1, 2, 3, 4, 5, 6, 7, 8].map(Ok));
    assert_eq!(all[10..], [nothing, nothing]);
    assert_eq!(read(&b, 1, 9_999, 2), [nothing, Err(Reason::NoMemory)]);
    assert_eq!(read(&b, 2, 0, 1), [Err(Reason::NoMemory)]);
    b.write(1, 9_998, &[9; 100], cause(Writer::Mapped));
    assert_eq!(read(&b, 1, 9_998, 2), [Ok(9), Ok(9)], "what goes beyond the end is cut off");
}

#[test]
fn same_bytes_are_counted() {
    let mut b = Bytes::default();
    b.allocate(1, 1 << 20);
    let into = |by, buffer| Cause::new(by, 0, buffer);
    b.write(1, 0, &[0; 8192], into(Writer::Mapped, 5));
    b.write(1, 100, &[0, 0, 1, 0], into(Writer::Mapped, 5));
    b.fill(1, 0, 4096, 0, into(Writer::FillBuffer, 6));
    b.copy((1, 0), (1, 8192), 100, into(Writer::CopyBuffer, 0));
    b.copy((1, 0), (1, 8192), 100, into(Writer::CopyBuffer, 0));
    let u = b.take_uploads();
    assert_eq!(u[&(Writer::Mapped, 5, 1)], Upload { writes: 2, bytes: 8196, same: 3 });
    assert_eq!(u[&(Writer::FillBuffer, 6, 1)], Upload { writes: 1, bytes: 4096, same: 4095 });
    assert_eq!(u[&(Writer::CopyBuffer, 0, 1)], Upload { writes: 2, bytes: 200, same: 100 });
    assert!(b.take_uploads().is_empty());
}

#[test]
fn copies_carry_what_is_not_known() {
    let mut b = Bytes::default();
    b.allocate(1, 64);
    b.allocate(2, 64);
    b.write(1, 0, &[1; 16], cause(Writer::Mapped));
    b.write(2, 0, &[2; 64], cause(Writer::Mapped));
    b.forget(1, 4, 4, why(Reason::Shader));
    b.copy((1, 0), (2, 8), 32, cause(Writer::CopyBuffer));
    let all = read(&b, 2, 0, 64);
    assert_eq!(all[..8], [Ok(2); 8]);
    assert_eq!(all[8..12], [Ok(1); 4]);
    assert_eq!(all[12..16], [Err(Reason::Shader); 4]);
    assert_eq!(all[16..24], [Ok(1); 8]);
    assert_eq!(all[24..40], [Err(Reason::NeverWritten); 16]);
    assert_eq!(all[40..], [Ok(2); 24]);
}

#[test]
fn stamps_say_whether_something_changed() {
    let mut b = Bytes::default();
    b.allocate(1, 4 << 20);
    b.write(1, 0, &[1; 64], cause(Writer::Mapped));
    let (here, there) = (b.stamp(1, 0, 64), b.stamp(1, 3 << 20, 64));
    b.write(1, 3 << 20, &[1; 64], cause(Writer::Mapped));
    assert_eq!(b.stamp(1, 0, 64), here);
    assert!(b.stamp(1, 3 << 20, 64) > there);
    b.forget(1, 0, 4 << 20, why(Reason::Shader));
    assert!(b.stamp(1, 0, 64) > here);
}

#[test]
fn the_journal_says_who_wrote_last() {
    let mut b = Bytes::default();
    b.keep_journal();
    b.allocate(1, 4096);
    b.write(1, 0, &[1; 64], Cause::new(Writer::Mapped, 10, 0));
    b.forget(1, 32, 64, Why::new(Reason::Shader, 11));
    assert_eq!(b.last_write(1, 8, u64::MAX).map(|e| e.what), Some(Ok(Cause::new(Writer::Mapped, 10, 0))));
    assert_eq!(b.last_write(1, 40, u64::MAX).map(|e| e.what), Some(Err(Why::new(Reason::Shader, 11))));
    assert_eq!(b.last_write(1, 4000, u64::MAX), None);
}

#[test]
fn little_is_held_of_much() {
    let mut b = Bytes::default();
    b.allocate(1, 64 << 30);
    assert!(b.held() < 4 << 20, "{}", b.held());
    b.fill(1, 0, 32 << 30, 0, cause(Writer::FillBuffer));
    assert!(b.held() < 4 << 20, "{}", b.held());
    let mut b = Bytes::default();
    b.allocate(2, 16 << 20);
    let noise: Vec<u8> = (0..16u32 << 20).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    noise.chunks(1000).enumerate().for_each(|(i, c)| b.write(2, i as u64 * 1000, c, cause(Writer::Mapped)));
    assert!(b.held() * 100 < b.live() * 102, "{} of {}", b.held(), b.live());
    b.allocate(3, 16 << 20);
    b.copy((2, 0), (3, 0), 16 << 20, cause(Writer::CopyBuffer));
    assert!(b.held() < 2 * b.live());
    let mut back = Vec::new();
    assert!(b.read(3, 0, 16 << 20, &mut back).all());
    assert_eq!(back, noise);
}

/// Whatever is done, in whatever order, gives what doing it byte by byte gives, counts of same bytes among it.
#[test]
fn everything_is_as_byte_by_byte() {
    let seed = std::cell::Cell::new(0x2545_F491_4F6C_DD1Du64);
    let next = |below: u64| {
        let s = seed.get();
        let s = s ^ s << 13;
        let s = s ^ s >> 7;
        seed.set(s ^ s << 17);
        seed.get() % below
    };
    let sizes = [(1u64, 9_000u64), (2, 3 << 20), (3, 4096), (4, 70)];
    let mut b = Bytes::default();
    let mut model = Model::new();
    for (id, size) in sizes {
        b.allocate(id, size);
        model.insert(id, vec![Err(Reason::NeverWritten); size as usize]);
    }
    let mut same = 0;
    for round in 0..3_000 {
        let (space, size) = sizes[next(4) as usize];
        let range = |size: u64| {
            let offset = match next(3) {
                0 => next(size) / 4096 * 4096,
                1 => next(size) / 4 * 4,
                _ => next(size),
            };
            let most = size - offset;
            let len = match next(4) {
                0 => most,
                1 => most.min(4096),
                2 => 1 + next(most),
                _ => most.min(1 + next(64)),
            };
            (offset, len)
        };
        let (offset, len) = range(size);
        let (other, _) = sizes[(space as usize + 1) % 4];
        let there = range(sizes[other as usize - 1].1).0;
        let bytes = model.get_mut(&space).expect("it is there");
        let part = &mut bytes[offset as usize..(offset + len) as usize];
        let mut put = |at: &mut Result<u8, Reason>, new: u8| {
            same += u64::from(*at == Ok(new));
            *at = Ok(new);
        };
        match next(5) {
            0 => {
                let data: Vec<u8> = (0..len).map(|_| next(3) as u8).collect();
                part.iter_mut().zip(&data).for_each(|(at, new)| put(at, *new));
                b.write(space, offset, &data, cause(Writer::Mapped));
            }
            1 => {
                let word = [0, 0x0101_0101, 0x0403_0201][next(3) as usize];
                let word_bytes = u32::to_le_bytes(word);
                part.iter_mut().enumerate().for_each(|(i, at)| put(at, word_bytes[i % 4]));
                b.fill(space, offset, len, word, cause(Writer::Mapped));
            }
            2 => {
                let reason = [Reason::Shader, Reason::Query][next(2) as usize];
                part.fill(Err(reason));
                b.forget(space, offset, len, why(reason));
            }
            _ => {
                let from = model[&other].clone();
                let part =
                    &mut model.get_mut(&space).expect("it is there")[offset as usize..][..len as usize];
                for (i, at) in part.iter_mut().enumerate() {
                    match from.get(there as usize + i).copied().unwrap_or(Err(Reason::NoMemory)) {
                        Ok(new) => put(at, new),
                        unknown => *at = unknown,
                    }
                }
                b.copy((other, there), (space, offset), len, cause(Writer::Mapped));
            }
        }
        let (offset, len) = range(size);
        let expected = &model[&space][offset as usize..(offset + len) as usize];
        assert!(read(&b, space, offset, len) == expected, "round {round}, {space} at {offset}, {len} bytes");
    }
    let counted: u64 = b.take_uploads().values().map(|u| u.same).sum();
    assert_eq!(counted, same);
    for (id, size) in sizes {
        assert!(read(&b, id, 0, size) == model[&id]);
    }
}
