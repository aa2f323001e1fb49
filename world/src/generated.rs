//! Generated commands: what the sequences of a layout do.
//!
//! Either extension's VkIndirectCommandsLayout. The device reads sequences from memory; what their tokens may change is said by
//! the layout: push constants, vertex and index buffers, what is run. Guarantees: every token of the registry is told apart
//! (by test); a token that is not known may do anything. Refuses nothing.

/// What a token does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Token {
    /// It chooses what is run: of an execution set, a pipeline, a group of shaders.
    Program,
    /// Push constants, or the sequence's number as one.
    Push,
    /// An index buffer, by address.
    Indices,
    /// A vertex buffer, by address.
    Vertices,
    /// State that nothing here depends on.
    State,
    /// A draw.
    Draw,
    /// Draws whose commands and number lie elsewhere, by address.
    Draws,
    /// A dispatch.
    Dispatch,
    /// A trace, with tables by address.
    Trace,
    /// A token that is not known.
    Other,
}

impl Token {
    /// VkIndirectCommandsTokenTypeEXT.
    pub fn of(token: u32) -> Token {
        match token {
            0 => Token::Program,
            1 | 2 | 1_000_135_000 | 1_000_135_001 => Token::Push,
            3 => Token::Indices,
            4 => Token::Vertices,
            5 | 6 | 1_000_202_002 | 1_000_328_000 => Token::Draw,
            7 | 8 | 1_000_202_003 | 1_000_328_001 => Token::Draws,
            9 => Token::Dispatch,
            1_000_386_004 => Token::Trace,
            _ => Token::Other,
        }
    }

    /// VkIndirectCommandsTokenTypeNV.
    pub fn of_nv(token: u32) -> Token {
        match token {
            0 | 1_000_428_003 => Token::Program,
            1 => Token::State,
            2 => Token::Indices,
            3 => Token::Vertices,
            4 | 1_000_135_000 => Token::Push,
            5..=7 | 1_000_328_000 => Token::Draw,
            1_000_428_004 => Token::Dispatch,
            _ => Token::Other,
        }
    }
}

/// A VkIndirectCommandsLayout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Its tokens, and the byte of a sequence where each is.
    pub tokens: Vec<(Token, u32)>,
    /// Bytes between sequences; 0 for the older extension, which has several streams.
    pub stride: u32,
}

impl Layout {
    /// Whether its sequences do this.
    pub fn does(&self, what: Token) -> bool {
        self.tokens.iter().any(|t| t.0 == what)
    }

    /// What is run is what was bound.
    pub fn runs_what_is_bound(&self) -> bool {
        !self.does(Token::Program) && !self.does(Token::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::schema::enum_named;

    #[test]
    fn every_token_of_the_registry_is_told_apart() {
        for (name, of) in [
            ("VkIndirectCommandsTokenTypeEXT", Token::of as fn(u32) -> Token),
            ("VkIndirectCommandsTokenTypeNV", Token::of_nv),
        ] {
            let found = enum_named(name).expect("it is in the schema");
            for (value, token) in found.values {
                let what = of(*value as u32);
                assert_ne!(what, Token::Other, "{token}");
                let says = |s: &str| token.contains(s);
                assert_eq!(what == Token::Push, says("PUSH") || says("SEQUENCE_INDEX"), "{token}");
                assert_eq!(what == Token::Draws, says("COUNT"), "{token}");
            }
            assert_eq!(of(77), Token::Other);
        }
    }
}
